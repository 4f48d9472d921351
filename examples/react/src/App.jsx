import { useUser } from "@stackframe/react";
import { useState } from "react";
import { stack } from "./stack.js";

export function App() {
  const user = useUser();
  if (location.pathname === "/verify") return <Verify />;
  return user ? <Home user={user} /> : <SignIn />;
}

function SignIn() {
  const [problem, setProblem] = useState("");

  async function submit(event) {
    event.preventDefault();
    const { email, password } = Object.fromEntries(new FormData(event.target));
    const isNew = event.nativeEvent.submitter.value === "sign-up";
    const result = isNew
      ? await stack.signUpWithCredential({ email, password })
      : await stack.signInWithCredential({ email, password });
    if (result.status === "error") setProblem(result.error.message);
  }

  return (
    <form onSubmit={submit}>
      <label>Email <input name="email" type="email" autoComplete="username" required /></label>
      <label>Password <input name="password" type="password" autoComplete="current-password" required /></label>
      <button value="sign-in">Sign in</button>
      <button value="sign-up">Sign up</button>
      <p role="alert">{problem}</p>
    </form>
  );
}

function Home({ user }) {
  const [answer, setAnswer] = useState("");

  async function ask() {
    const { accessToken } = await user.getAuthJson();
    try {
      const response = await fetch(`${import.meta.env.VITE_SERVER_URL}/notes`, {
        headers: { authorization: `Bearer ${accessToken}` },
      });
      setAnswer(await response.text());
    } catch {
      setAnswer(`No server answers at ${import.meta.env.VITE_SERVER_URL}: start the one from the guide "Node.js backend".`);
    }
  }

  return (
    <main>
      <p id="who">{user.primaryEmail} {user.primaryEmailVerified ? "verified" : "unverified"}</p>
      <button onClick={ask}>Ask the server</button>
      <button onClick={() => user.signOut()}>Sign out</button>
      <pre id="answer">{answer}</pre>
    </main>
  );
}

/** The page behind the link of the verification email. */
function Verify() {
  const [state, setState] = useState("");
  const code = new URLSearchParams(location.search).get("code");

  async function verify() {
    const result = await stack.verifyEmail(code);
    setState(result.status === "ok" ? "The address is verified." : result.error.message);
  }

  return (
    <main>
      <button onClick={verify}>Verify my address</button>
      <p id="verified">{state}</p>
      <a href="/">Home</a>
    </main>
  );
}
