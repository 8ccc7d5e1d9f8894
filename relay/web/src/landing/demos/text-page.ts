// A page for visitors with a title and a text. Nothing runs in it.
import { escapeHtml } from '@svc/protocol/documents'
import { page } from '../../common/document-answers.ts'

/** The text keeps its lines. */
const STYLE = 'h1,.note{white-space:pre-wrap}'

interface TextPage {
  title: string
  /** Empty for none. */
  text: string
  foot: string
}

export function textPage({ title, text, foot }: TextPage): Response {
  const main = `<h1>${escapeHtml(title)}</h1>
${text === '' ? '' : `<p class="note">${escapeHtml(text)}</p>\n`}<p class="quiet">${escapeHtml(foot)}</p>`
  return page(200, title, main, STYLE)
}
