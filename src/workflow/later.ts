/** A value that others hold before it is there. */
export interface Later<T> {
  /** Throws when it was not set. */
  get(): T;
  set(value: T): void;
}

/** For parts that need one another: the components start what the engine runs, which runs components. */
export function later<T>(name: string): Later<T> {
  let held: { readonly value: T } | undefined;
  return {
    get: () => {
      if (held) return held.value;
      throw new Error(`${name} is not there yet`);
    },
    set: (value) => {
      held = { value };
    },
  };
}
