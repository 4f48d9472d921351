// An app with a home page only; all other pages are the SDK's.

import {
  OAuthButtonGroup,
  SelectedTeamSwitcher,
  StackClientApp,
  StackHandler,
  StackProvider,
  StackTheme,
  TeamSwitcher,
  UserButton,
  useUser,
} from "@stackframe/react";
import { Component, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";

const config = await (await fetch("/config.json")).json();
const app = new StackClientApp({ tokenStore: "cookie", redirectMethod: "window", ...config });
// For actions that are not on any page of the SDK.
globalThis.app = app;

/** Shows an error thrown by a page of the SDK. */
class Boundary extends Component {
  state = {};
  static getDerivedStateFromError(error) {
    return { error };
  }
  render() {
    return this.state.error ? <p role="alert">{`${this.state.error}`}</p> : this.props.children;
  }
}

function Home() {
  const user = useUser();
  return (
    <main>
      <header className="stack-scope">
        <UserButton showUserInfo />
        {user && <TeamSwitcher allowNull teamId={user.selectedTeam?.id} onChange={(team) => user.setSelectedTeam(team)} />}
      </header>
      <p id="who" style={{ padding: "1rem" }}>{user ? `${user.primaryEmail} ${user.primaryEmailVerified ? "verified" : "unverified"}` : "nobody"}</p>
    </main>
  );
}

/** A page about the team in its URL. */
function Team() {
  const user = useUser({ or: "redirect" });
  const team = user.useTeam(new URLSearchParams(location.search).get("id") ?? "");
  return (
    <header className="stack-scope">
      <SelectedTeamSwitcher selectedTeam={team ?? undefined} urlMap={(team) => `/team?id=${team.id}`} />
      <p id="selected">{user.selectedTeam?.displayName ?? "no team"}</p>
    </header>
  );
}

const ROUTES = {
  "/": <Home />,
  "/providers": <OAuthButtonGroup type="sign-in" />,
  "/team": <Team />,
};

createRoot(document.getElementById("root")).render(
  <StrictMode>
    <StackProvider app={app}>
      <StackTheme>
        <Boundary>
          <Suspense fallback={<p>Loading …</p>}>{ROUTES[location.pathname] ?? <StackHandler fullPage />}</Suspense>
        </Boundary>
      </StackTheme>
    </StackProvider>
  </StrictMode>,
);
