import { StackProvider } from "@stackframe/react";
import { StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App.jsx";
import { stack } from "./stack.js";

createRoot(document.getElementById("root")).render(
  <StrictMode>
    <StackProvider app={stack}>
      <Suspense fallback={<p>Loading …</p>}>
        <App />
      </Suspense>
    </StackProvider>
  </StrictMode>,
);
