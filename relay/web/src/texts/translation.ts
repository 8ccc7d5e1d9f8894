// What a language has to have: the texts of the landing page.

/** The texts of another language, by the names of the English ones. */
export type Translation = {
  COMMON: Translated<typeof import('./common.ts').COMMON>
  FACTS: Translated<typeof import('./facts.ts').FACTS>
  WHO_SEES: Translated<typeof import('./facts.ts').WHO_SEES>
  COMPARISON: Translated<typeof import('./facts.ts').COMPARISON>
  LANDING: Translated<typeof import('./landing.ts').LANDING>
  WEBHOOK: Translated<typeof import('./note.ts').WEBHOOK>
  NOTE: Translated<typeof import('./note.ts').NOTE>
  SITE_STATES: Translated<typeof import('./site-states.ts').SITE_STATES>
  WAITING: Translated<typeof import('./site-states.ts').WAITING>
  TOOLS: Translated<typeof import('./tools.ts').TOOLS>
}

/** The same names, with sentences of another language. Where a link leads is the same in all of them. */
type Translated<T> = T extends string
  ? string
  : T extends (...given: infer Given) => string
    ? (...given: Given) => string
    : T extends readonly unknown[]
      ? { readonly [Index in keyof T]: Translated<T[Index]> }
      : { readonly [Name in keyof T as Name extends 'href' ? never : Name]: Translated<T[Name]> }
