// Deletes a resource.

import { deletion } from "../components/dialog.js";
import { resources as words } from "../texts-oauth-resources.js";

export const part = ({ api, resource, place, router, to }) =>
  deletion({
    title: words.delete,
    text: words.deleteText,
    name: resource.name,
    act: () => api.delete(place),
    done: () => router.go(to("/oauth-resources")),
  });
