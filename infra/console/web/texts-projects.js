// English texts of the list of projects.

export const projects = {
  title: "Projects",
  lead: "Each project has its own users, teams, keys and settings.",
  name: "Name",
  nameHelp: "Users see this name.",
  description: "Description",
  local: "this gateway’s first",
  create: "Create project",
  owner: "Owned by",
  ownerHelp: "Members of this team can open the project.",
  signInFirst: "Users of the project “internal” can create projects and see their teams’ projects. To give a project to a team, run “gateway project transfer”.",
  noTeam: { title: "You are not in any team", text: "A project belongs to a team. Create a team in the project “internal” first." },
  none: { title: "No projects yet", text: "Your teams’ projects appear here." },
};
