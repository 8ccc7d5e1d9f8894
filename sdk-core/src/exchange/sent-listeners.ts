// Tells who asks to know it that a request goes to the target.

/** What to call, by the `FetchInfo` of the request. */
export const sentListeners: WeakMap<object, () => void> = new WeakMap()
