// The types of an SDK according to the TypeScript compiler.

import ts from "typescript";

const { TypeFlags } = ts;
const KINDS = [
  [TypeFlags.StringLike | TypeFlags.TemplateLiteral, "string"],
  [TypeFlags.NumberLike, "number"],
  [TypeFlags.BooleanLike, "boolean"],
  [TypeFlags.Undefined, "undefined"],
  [TypeFlags.Null, "null"],
];

/** The file of a symbol's declaration; empty if the compiler made the symbol. */
function fileOf(symbol) {
  return symbol?.declarations?.[0]?.getSourceFile().fileName ?? "";
}

function isSdk(file) {
  return file.includes("@stackframe/js/");
}

export class Types {
  #names = new Map();

  constructor(checker, files) {
    this.checker = checker;
    // The compiler forgets the names of computed types, such as `UserApiKey`.
    for (const file of files.filter((file) => isSdk(file.fileName))) {
      const aliases = file.statements.filter((it) => ts.isTypeAliasDeclaration(it) && !it.typeParameters);
      for (const { name } of aliases) this.#names.set(this.declared(checker.getSymbolAtLocation(name)), name.text);
    }
  }

  declared(symbol) {
    return this.checker.getDeclaredTypeOfSymbol(symbol);
  }

  awaited(type) {
    return this.checker.getAwaitedType(type) ?? type;
  }

  valueOf(property) {
    return this.checker.getTypeOfSymbol(property);
  }

  callsOf(type) {
    return this.checker.getNonNullableType(type).getCallSignatures();
  }

  extends(type, base) {
    return this.checker.isTypeAssignableTo(type, base);
  }

  /** A type's named properties; properties named by a symbol are internal. */
  propertiesOf(type) {
    return this.checker.getPropertiesOfType(type).filter(({ name }) => !name.startsWith("__@") && !name.startsWith("_"));
  }

  /** Whether the SDK itself declares a property, not its internal library. */
  isPublic(property) {
    return fileOf(property) === "" || isSdk(fileOf(property));
  }

  hasMethods(type) {
    return type.flags & (TypeFlags.Object | TypeFlags.Intersection) && this.propertiesOf(type).some((property) => this.callsOf(this.valueOf(property)).length > 0);
  }

  /**
   * The types of the objects in a value of this type or, for a list, in its elements. `union` is
   * set if they are the cases of an exported union that differ in a literal property; members of
   * all cases are then counted under the union's name.
   */
  partsOf(type) {
    const found = this.#split(this.awaited(type));
    const cases = found.filter((part) => part.flags & TypeFlags.Object || part.flags & TypeFlags.Intersection);
    const parts = [...new Set(cases.flatMap((part) => this.#element(part)).filter((part) => this.#isOurs(part)))];
    return { parts, union: this.#unionOf(this.checker.getNonNullableType(this.#elementOrSelf(type))) };
  }

  /** The name for counting a type's members. */
  nameOf(type, otherwise) {
    const isNamed = type.aliasSymbol && isSdk(fileOf(type.aliasSymbol));
    const name = isNamed ? type.aliasSymbol.name : (this.#names.get(type) ?? otherwise);
    // The newer version has two names for each type of app.
    return name.replace(/^Hexclave/, "Stack");
  }

  /**
   * A call's first argument: the kinds of its values (null for all), and an object's required
   * properties with their literals.
   */
  firstOf(call) {
    const [first] = call.getParameters();
    if (!first) return { takes: null, needs: {} };
    const type = this.valueOf(first);
    const [object, ...others] = this.#split(type).filter((part) => part.flags & (TypeFlags.Object | TypeFlags.Intersection));
    const required = object && others.length === 0 ? this.propertiesOf(object).filter(({ flags }) => !(flags & ts.SymbolFlags.Optional)) : [];
    return { takes: this.kindsOf(type), needs: Object.fromEntries(required.map((property) => [property.name, this.literalsOf(this.valueOf(property))])) };
  }

  /** A property's required values, if its type is a literal or a union of literals. */
  literalsOf(type) {
    const parts = type.isUnion() ? type.types : [type];
    const values = parts.map((part) => (part.isStringLiteral() ? part.value : part.flags & TypeFlags.BooleanLiteral ? part.intrinsicName === "true" : undefined));
    return values.includes(undefined) ? null : values;
  }

  /** The kinds of values that a type allows; null if a part has no kind, such as `any`. */
  kindsOf(type) {
    const kinds = this.#split(type).map((part) => this.#kindOf(part));
    return kinds.includes(null) ? null : [...new Set(kinds)];
  }

  #kindOf(type) {
    const [, simple] = KINDS.find(([flags]) => type.flags & flags) ?? [];
    if (simple) return simple;
    if (!(type.flags & (TypeFlags.Object | TypeFlags.Intersection))) return null;
    if (type.getCallSignatures().length > 0) return "function";
    if (this.checker.isArrayLikeType(type)) return "list";
    return type.symbol?.name === "Date" ? "date" : "object";
  }

  /** A union's types. A type parameter is replaced by its constraint. */
  #split(type) {
    const closed = type.flags & TypeFlags.Instantiable ? (this.checker.getBaseConstraintOfType(type) ?? type) : type;
    return closed.isUnion() ? closed.types.flatMap((part) => this.#split(part)) : [closed];
  }

  #element(type) {
    const element = this.#elementOrSelf(type);
    return element === type ? [type] : this.#split(element);
  }

  #elementOrSelf(type) {
    const awaited = this.awaited(type);
    if (!(awaited.flags & (TypeFlags.Object | TypeFlags.Intersection)) || !this.checker.isArrayLikeType(awaited)) return awaited;
    return this.checker.getIndexTypeOfType(awaited, ts.IndexKind.Number) ?? awaited;
  }

  #isOurs(type) {
    if (!(type.flags & (TypeFlags.Object | TypeFlags.Intersection))) return false;
    if (type.getCallSignatures().length > 0) return false;
    if (type.getProperty("stack") && type.getProperty("message")) return false;
    if (type.flags & TypeFlags.Intersection || (type.aliasSymbol && isSdk(fileOf(type.aliasSymbol)))) return true;
    const file = fileOf(type.symbol);
    return file === "" || file.includes("@stackframe");
  }

  #unionOf(type) {
    if (!type.isUnion() || !type.aliasSymbol || !isSdk(fileOf(type.aliasSymbol))) return undefined;
    const literals = (part) => this.propertiesOf(part).filter((property) => this.literalsOf(this.valueOf(property))?.length === 1).map(({ name }) => name);
    const isTold = type.types.every((part) => this.#isOurs(part)) && literals(type.types[0]).some((name) => type.types.every((part) => literals(part).includes(name)));
    return isTold ? { type, name: this.nameOf(type) } : undefined;
  }
}
