// Names of fields that some servers take for the same.

/** Treats all characters except letters and digits alike, as servers do that turn fields into variables (RFC 3875 §4.1.18). */
export function spellingOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z\d]/g, '-')
}
