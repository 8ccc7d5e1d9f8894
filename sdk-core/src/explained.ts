// Makes an error whose message is loaded when it is needed.

import { SvcError, type SvcErrorCode } from './errors.ts'

type Sentences = typeof import('./sentences.ts')
type About = {
  [Name in keyof Sentences]: [sentence: Name, ...about: Parameters<Sentences[Name]>]
}[keyof Sentences]

/** Resolves with the error. If its message cannot be loaded, as in a service worker, the message is its name. */
export async function explained(
  code: SvcErrorCode,
  [sentence, ...about]: About,
  cause?: unknown,
): Promise<SvcError> {
  const late: object = await import('./sentences.ts').catch(() => ({}))
  const say: ((...about: unknown[]) => string) | undefined = Reflect.get(late, sentence)
  return new SvcError(code, say?.(...about) ?? `${sentence} ${about[0]}`, { cause })
}
