// The public members of an SDK and the types of their values, read from the SDK's type
// declarations.
//
// A node describes a type by its members. Each member has the kinds of values that its type allows,
// and the nodes of its value. For a method, the node has these for each overload: the first
// argument, and the kinds and nodes of the promise's result. A member is named after the type of
// the value that it belongs to. Every user, team, app and project has separate members, wherever
// these are declared.

import { fileURLToPath } from "node:url";
import ts from "typescript";

import { Types } from "./types.js";

const APPS = ["StackClientApp", "StackServerApp", "StackAdminApp"];
/** The type whose members are the package's exported functions. */
const EXPORTS = "exports";

/**
 * - `roots`: the indices of the nodes of each app and of the package.
 * - `nodes`: all nodes.
 * - `members`: the type and kind ("method" or "property") of each member.
 * - `bases`: the exported types that have methods but no values of their own, each with the types
 *   of values that extend it.
 */
export function schemaOf(version) {
  const entry = fileURLToPath(new URL(`../${version}/node_modules/@stackframe/js/dist/esm/index.d.ts`, import.meta.url));
  const options = { skipLibCheck: true, strict: true, noEmit: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler };
  const program = ts.createProgram([entry], { ...options, lib: ["lib.es2022.d.ts", "lib.dom.d.ts"], types: [] });
  const checker = program.getTypeChecker();
  const reader = new Reader(new Types(checker, program.getSourceFiles()));
  const resolved = (symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol);
  const exported = new Map(checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(entry))).map((symbol) => [symbol.name, resolved(symbol)]));
  const roots = Object.fromEntries(APPS.map((name) => [name, reader.nodesOf(checker.getDeclaredTypeOfSymbol(exported.get(name)), name)]));
  roots[EXPORTS] = reader.exports(EXPORTS, [...exported].filter(([, { flags }]) => flags & ts.SymbolFlags.Value));
  return { roots, nodes: reader.nodes, members: reader.members, bases: reader.bases([...exported.values()]) };
}

class Reader {
  nodes = [];
  members = {};
  #known = new Map();
  #read = new Map();

  constructor(types) {
    this.types = types;
  }

  /** The indices of the nodes of a type's parts; none if the SDK does not declare any of them. */
  nodesOf(type, name) {
    const { parts, union } = this.types.partsOf(type);
    if (union) this.#count(union.type, union.name);
    return parts.map((part) => this.#nodeOf(part, union?.name ?? this.types.nameOf(part, name), !union));
  }

  #nodeOf(type, name, isCounted) {
    if (!this.#known.has(type)) {
      this.#known.set(type, this.nodes.length);
      const node = { type: name, literals: {}, members: {} };
      this.nodes.push(node);
      this.#read.set(name, type);
      if (isCounted) this.#count(type, name);
      for (const property of this.types.propertiesOf(type)) this.#describe(property, node);
    }
    return this.#known.get(type);
  }

  #describe(property, node) {
    const value = this.types.valueOf(property);
    const literals = this.types.literalsOf(value);
    if (literals) node.literals[property.name] = literals;
    const calls = this.types.callsOf(value);
    const name = `${node.type}.${property.name}`;
    const is = this.types.isPublic(property) ? this.types.kindsOf(value) : null;
    const known = calls.length === 0 ? { is, to: this.nodesOf(value, name) } : { is, calls: [] };
    node.members[property.name] = known;
    for (const call of calls) {
      const gives = this.types.awaited(call.getReturnType());
      known.calls.push({ ...this.types.firstOf(call), gives: this.types.kindsOf(gives), to: this.nodesOf(gives, name) });
    }
  }

  #count(type, name) {
    for (const property of this.types.propertiesOf(type)) {
      if (!this.types.isPublic(property)) continue;
      const kind = this.types.callsOf(this.types.valueOf(property)).length > 0 ? "method" : "property";
      this.members[`${name}.${property.name}`] ??= { type: name, kind };
    }
  }

  /** The package's node: its functions, and its classes of apps as properties. */
  exports(type, values) {
    const node = { type, literals: {}, members: {} };
    for (const [name, symbol] of values) {
      const value = this.types.valueOf(symbol);
      const isMethod = this.types.callsOf(value).length > 0;
      node.members[name] = isMethod ? { is: ["function"], calls: [{ takes: null, needs: {}, gives: null, to: [] }] } : { is: null, to: [] };
      this.members[`${type}.${name}`] = { type, kind: isMethod ? "method" : "property" };
    }
    return [this.nodes.push(node) - 1];
  }

  /**
   * Each exported type with methods but without values, such as `Auth`, with the types of values
   * that extend it, whose members include all of the type's members.
   */
  bases(exported) {
    const found = {};
    for (const symbol of exported) {
      if (!(symbol.flags & (ts.SymbolFlags.TypeAlias | ts.SymbolFlags.Interface))) continue;
      const type = this.types.declared(symbol);
      if (this.#known.has(type) || this.#read.has(this.types.nameOf(type, symbol.name)) || !this.types.hasMethods(type)) continue;
      found[symbol.name] = [...this.#read].filter(([, read]) => this.types.extends(read, type)).map(([name]) => name);
    }
    return found;
  }
}
