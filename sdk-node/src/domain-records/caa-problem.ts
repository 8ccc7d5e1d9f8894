// Whether the CAA records of a domain leave it to the site's own accounts (RFC 8659, RFC 8657).

/** @returns undefined when every `issue` is one of those that are wanted, and at least one is there */
export function caaProblem(
  values: readonly string[],
  wanted: readonly string[],
): { state: 'missing' | 'wrong'; message: string } | undefined {
  const allowed = values.filter((value) => /^\d+ issue /.test(value) && !isNobody(value))
  const other = allowed.find((value) => !wanted.some((one) => isSame(one, value)))
  if (other !== undefined)
    return { state: 'wrong', message: `has ${other}, which lets others get a certificate` }
  return allowed.length > 0 ? undefined : { state: 'missing', message: 'has no such record' }
}

/** `issue ";"` lets nobody issue. */
function isNobody(value: string): boolean {
  return /^\d+ issue "\s*;/.test(value)
}

/** Blanks between the parameters mean nothing. */
function isSame(one: string, other: string): boolean {
  return withoutBlanks(one) === withoutBlanks(other)
}

function withoutBlanks(value: string): string {
  const parts = value.split(/[;"]/).map((part) => part.split('=').map((text) => text.trim()))
  return parts.map((part) => part.join('=')).join(';')
}
