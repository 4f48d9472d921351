import { StackClientApp } from "@stackframe/react";

export const stack = new StackClientApp({
  baseUrl: import.meta.env.VITE_GATELET_URL,
  projectId: import.meta.env.VITE_GATELET_PROJECT_ID,
  publishableClientKey: import.meta.env.VITE_GATELET_CLIENT_KEY,
  tokenStore: "cookie",
  redirectMethod: "window",
  urls: { afterSignIn: "/", afterSignUp: "/", afterSignOut: "/", emailVerification: "/verify" },
  // The developer tool and analytics need the service that the SDK was made for.
  devTool: false,
  analytics: { enabled: false },
});
