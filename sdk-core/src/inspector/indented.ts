// JSON with indentation, within bounds.

/** The deepest JSON that is indented, and the most characters by which that may make it longer. */
const DEPTH_MAX = 1_000
const SPACES_MAX: number = 4 * 1024 * 1024

/** Returns the JSON of a value, indented unless that would make it very long. */
export function indented(value: unknown): string {
  const json = JSON.stringify(value)
  return isIndentable(json) ? JSON.stringify(value, null, 2) : json
}

/** Returns whether indented JSON has a length near its own: each line of a deep value begins with as many spaces. */
export function isIndentable(json: string): boolean {
  let depth = 0
  let spaces = 0
  let isText = false
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at]!
    if (isText && character === '\\') at += 1
    else if (character === '"') isText = !isText
    if (isText || !'[]{},'.includes(character)) continue
    if (character !== ',') depth += character === '[' || character === '{' ? 1 : -1
    spaces += 2 * depth
    if (depth > DEPTH_MAX || spaces > SPACES_MAX) return false
  }
  return true
}
