/** A promise that is made when somebody asks, and never rejects. */
export class Once<Value> {
  #value: { readonly it: Value } | undefined;
  #asked: { readonly promise: Promise<Value>; resolve(value: Value): void } | undefined;

  get value(): Value | undefined {
    return this.#value?.it;
  }

  get promise(): Promise<Value> {
    if (this.#asked === undefined) {
      let resolve: (value: Value) => void = () => {};
      const promise = new Promise<Value>((settle) => {
        resolve = settle;
      });
      this.#asked = { promise, resolve };
      if (this.#value !== undefined) resolve(this.#value.it);
    }
    return this.#asked.promise;
  }

  resolve(value: Value): void {
    this.#value = { it: value };
    this.#asked?.resolve(value);
  }
}
