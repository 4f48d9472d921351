// The public members of an SDK and the types of their values, from its type declarations.
//
// A node describes a type by its properties: each has the node of its value or, for a method, the
// node of the value that its promise resolves to. A member is a method, named with the type that
// declares it.

import { fileURLToPath } from "node:url";
import ts from "typescript";

const ROOTS = ["StackClientApp", "StackServerApp", "StackAdminApp"];

/** Types whose generated members are counted as members of another type. */
const SAME = { CurrentInternalUser: "CurrentUser", CurrentServerUser: "ServerUser", CurrentInternalServerUser: "ServerUser", ServerTeamUser: "ServerUser" };

/**
 * `{ roots, nodes, members }`: the node of each app, all nodes, and the declaring type of each
 * member.
 */
export function schemaOf(version) {
  const entry = fileURLToPath(new URL(`../${version}/node_modules/@stackframe/js/dist/esm/index.d.ts`, import.meta.url));
  const options = { skipLibCheck: true, strict: true, noEmit: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler };
  const program = ts.createProgram([entry], { ...options, lib: ["lib.es2022.d.ts", "lib.dom.d.ts"], types: [] });
  const reader = new Reader(program.getTypeChecker());
  const exported = reader.checker.getExportsOfModule(reader.checker.getSymbolAtLocation(program.getSourceFile(entry)));
  const types = ROOTS.map((name) => reader.checker.getDeclaredTypeOfSymbol(reader.resolved(exported.find((symbol) => symbol.name === name))));
  types.forEach((type, at) => reader.apps.set(ROOTS[at], new Set(reader.checker.getPropertiesOfType(type).map(({ name }) => name))));
  const roots = Object.fromEntries(types.map((type, at) => [ROOTS[at], reader.nodeOf(type, ROOTS[at])]));
  return { roots, nodes: reader.nodes, members: reader.members };
}

class Reader {
  nodes = [];
  members = {};
  /** The members of each type of app, from the least privileged type to the most privileged. */
  apps = new Map();
  #known = new Map();

  constructor(checker) {
    this.checker = checker;
  }

  resolved(symbol) {
    return symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol;
  }

  /** The index of a type's node; null if the type has no part that the SDK declares. */
  nodeOf(type, name) {
    const awaited = this.checker.getAwaitedType(type) ?? type;
    const parts = this.#parts(awaited).flatMap((part) => this.#element(part)).filter((part) => this.#isOurs(part));
    if (parts.length === 0) return null;
    const key = parts.map(({ id }) => id).sort((a, b) => a - b).join("|");
    if (!this.#known.has(key)) {
      this.#known.set(key, this.nodes.length);
      const node = {};
      this.nodes.push(node);
      for (const part of parts) this.#read(part, node, part.aliasSymbol?.name ?? name);
    }
    return this.#known.get(key);
  }

  /** The types of a union. A type parameter is replaced by its constraint. */
  #parts(type) {
    const closed = type.flags & ts.TypeFlags.Instantiable ? (this.checker.getBaseConstraintOfType(type) ?? type) : type;
    return closed.isUnion() ? closed.types.flatMap((part) => this.#parts(part)) : [closed];
  }

  /** A list is replaced by the types of its elements. */
  #element(type) {
    if (!this.checker.isArrayLikeType(type)) return [type];
    const element = this.checker.getIndexTypeOfType(type, ts.IndexKind.Number);
    return element ? this.#parts(element) : [];
  }

  #isOurs(type) {
    if (!(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return false;
    if (type.flags & ts.TypeFlags.Intersection) return true;
    const file = type.symbol?.declarations?.[0]?.getSourceFile().fileName ?? "";
    return file === "" || file.includes("@stackframe");
  }

  #read(type, node, name) {
    for (const property of this.checker.getPropertiesOfType(type)) {
      if (property.name.startsWith("__@")) continue;
      const value = this.checker.getTypeOfSymbol(property);
      const calls = this.checker.getNonNullableType(value).getCallSignatures();
      if (calls.length === 0) {
        node[property.name] ??= { to: this.nodeOf(this.checker.getNonNullableType(value), name) };
        continue;
      }
      const member = this.#member(property, name);
      const gives = calls.map((call) => this.nodeOf(this.checker.getNonNullableType(call.getReturnType()), name)).find((to) => to !== null) ?? null;
      node[property.name] ??= { member, to: gives };
    }
  }

  /**
   * The name of a method with the type that declares it; null for a method of the SDK's internal
   * library.
   */
  #member(property, owner) {
    let place = property.declarations?.[0];
    const path = place?.getSourceFile().fileName ?? "";
    if (path.includes("stack-shared")) return null;
    while (place && !ts.isTypeAliasDeclaration(place) && !ts.isInterfaceDeclaration(place) && !ts.isClassDeclaration(place)) place = place.parent;
    const isMade = !place || place.name.text === "AsyncStoreProperty";
    const type = isMade ? this.#maker(property.name, owner) : place.name.text;
    const member = `${type}.${property.name}`;
    this.members[member] ??= type;
    return member;
  }

  /**
   * The owner of a method whose name is generated. For a method of an app, this is the least
   * privileged type of app that has the method.
   */
  #maker(name, owner) {
    if (!this.apps.has(owner)) return SAME[owner] ?? owner;
    return [...this.apps].find(([, names]) => names.has(name))[0];
  }
}
