// A URL in parts, between which a line may break: no line begins with the last letter of a name.
import type { VNode } from '../preact.ts'

/** It breaks after a slash and before a dot. */
export function breakable(url: string): (VNode | string)[] {
  return url.split(/(?<=\/)|(?=\.)/).flatMap((part) => [<wbr key={part} />, part])
}
