export * from "@stackframe/js";
