/** A `google.protobuf.Value` as the loader has it: one of its fields is set. */
export interface ProtoValue {
  readonly nullValue?: unknown;
  readonly numberValue?: number;
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly structValue?: ProtoStruct;
  readonly listValue?: { readonly values?: readonly ProtoValue[] };
}

/** A `google.protobuf.Struct` as the loader has it. */
export interface ProtoStruct {
  readonly fields?: Readonly<Record<string, ProtoValue>>;
}

/** Any JSON value as a Value; what JSON leaves out is left out. */
export function toValue(value: unknown): ProtoValue {
  switch (typeof value) {
    case 'string':
      return { stringValue: value };
    case 'number':
      return Number.isFinite(value) ? { numberValue: value } : { nullValue: 0 };
    case 'boolean':
      return { boolValue: value };
    default:
      if (Array.isArray(value)) return { listValue: { values: value.map(toValue) } };
      return isRecord(value) ? { structValue: toStruct(value) } : { nullValue: 0 };
  }
}

/** An object as a Struct. */
export function toStruct(object: Readonly<Record<string, unknown>>): ProtoStruct {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  return { fields: Object.fromEntries(entries.map(([name, value]) => [name, toValue(value)])) };
}

/** The JSON value of a Value; one without any field is null. */
export function fromValue(value: ProtoValue): unknown {
  if (value.structValue) return fromStruct(value.structValue);
  if (value.listValue) return (value.listValue.values ?? []).map(fromValue);
  return value.stringValue ?? value.numberValue ?? value.boolValue ?? null;
}

/** The object of a Struct; a field named `__proto__` is its own: whoever takes it in must refuse it. */
export function fromStruct({ fields = {} }: ProtoStruct): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, fromValue(value)]),
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
