// `/console`: opens the user's first project.

import { h } from "../core/dom.js";
import { url } from "../core/router.js";

export async function view({ projects, router }) {
  const [first] = projects.keys();
  await router.go(first ? url(`/${first}`) : url("/projects"));
  return h("span");
}
