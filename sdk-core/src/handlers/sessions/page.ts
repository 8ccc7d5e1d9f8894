// A page of a sign-in, which no cache may store.

import { type AnsweredDocument, documentAnswer } from '../document-answer.ts'
import { UNCACHED } from './answers.ts'
import { PAGE_STYLE } from './page-style.ts'

export function pageAnswer(
  status: number,
  page: Omit<AnsweredDocument, 'style'>,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return documentAnswer(status, { ...page, style: PAGE_STYLE }, { ...UNCACHED, ...headers })
}
