// Puts texts of another language in place of the English ones, before the first of them is shown.

/** The English ones, by the names that they have in `Translation`. */
const translatables = new Map<string, object>()
let translation: Readonly<Record<string, object>> = {}

/** Texts may be loaded before the language of the page is, or later. */
export function translatable(name: string, texts: object): void {
  translatables.set(name, texts)
  replaceTexts(texts, translation[name] ?? {})
}

/** @param language a `Translation` */
export function translateTo(language: Readonly<Record<string, object>>): void {
  translation = language
  for (const [name, texts] of translatables) replaceTexts(texts, language[name] ?? {})
}

function replaceTexts(texts: object, others: object): void {
  for (const [name, other] of Object.entries(others)) {
    if (typeof other === 'object') replaceTexts(texts[name as never], other)
    else texts[name as never] = other as never
  }
}
