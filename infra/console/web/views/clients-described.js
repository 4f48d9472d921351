// Whether the project accepts OAuth clients that describe themselves.

import { form, saves } from "../components/form.js";
import { h } from "../core/dom.js";
import { at } from "../core/values.js";
import { clients as words } from "../texts-oauth-clients.js";
import { PROJECT } from "./client-common.js";

const DOCUMENTS = "config.oauth_client_documents_enabled";

const fieldsOf = () => [
  { name: DOCUMENTS, label: words.documents, type: "switch", help: words.documentsHelp },
  {
    name: "config.oauth_client_document_hosts",
    label: words.hosts,
    type: "lines",
    help: words.hostsHelp,
    placeholder: "app.example.com",
    when: (values) => values[DOCUMENTS],
  },
  {
    name: "config.oauth_client_registration_enabled",
    label: words.registration,
    type: "switch",
    help: [h("strong", {}, words.registrationWarning), " ", words.registrationHelp],
  },
];

export async function part({ api }) {
  const project = api.resource(PROJECT);
  const fields = fieldsOf();
  const read = async () => {
    const now = await project.read();
    return Object.fromEntries(fields.map(({ name }) => [name, at(now, name)]));
  };
  return h("div", {}, h("p", {}, words.describedLead), form({ fields, values: await read(), ...saves(project), reread: read }));
}
