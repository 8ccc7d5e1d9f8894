// What an error of `publish` means for the owner of the tab, in a sentence. The SDK's own messages are for programmers.
import { LANDING } from '../texts/landing.ts'
import { type Fault, faultOf } from './choices.ts'

/** @returns the sentence, and the field of the form that it is about */
export function failureOf(error: unknown): { text: string; fault: Fault } {
  const message = error instanceof Error ? error.message : ''
  const fault = faultOf(codeOf(error), message)
  if (fault === 'password') return { text: LANDING.passwordRefused, fault }
  return { text: sentenceOf(codeOf(error), message), fault }
}

/**
 * @param code of an error
 * @param message that of the relay says best what is wrong with an invitation
 */
export function sentenceOf(code: unknown, message: string): string {
  if (code === 'invitation_rejected') return message
  if (code === 'hostname_conflict' && /\breserved\b/.test(message)) return LANDING.errors.name_reserved
  if (code === 'relay_unreachable' && !navigator.onLine) return LANDING.errors.offline
  const sentences: Readonly<Record<string, string>> = LANDING.errors
  const known = typeof code === 'string' && Object.hasOwn(sentences, code) ? sentences[code] : undefined
  return known ?? LANDING.failed(typeof code === 'string' ? code : undefined)
}

export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
