// Chooses the language of the landing page: what the reader chose before, else what the browser prefers. Other pages are English.

import { translateTo } from './translate.ts'
import type { Translation } from './translation.ts'

/** The languages by their own names. */
export const LANGUAGES = { en: 'English', de: 'Deutsch', ar: 'العربية' } as const
type Language = keyof typeof LANGUAGES

const OTHERS: Readonly<Record<Exclude<Language, 'en'>, () => Promise<{ TRANSLATION: Translation }>>> = {
  de: () => import('./de.ts'),
  ar: () => import('./ar.ts'),
}
/** The key of local storage, and the parameter of the address that a link to another language has. */
const KEY = 'language'

/** Before the first text is shown. A language whose texts do not come leaves the page in English. */
export async function useLanguage(): Promise<void> {
  const language = chosenLanguage()
  if (language === 'en') return
  const loaded = await OTHERS[language]().catch(() => undefined)
  if (loaded === undefined) return
  translateTo(loaded.TRANSLATION)
  Object.assign(document.documentElement, { lang: language, dir: directionOf(language) })
}

function directionOf(language: Language): 'ltr' | 'rtl' {
  return language === 'ar' ? 'rtl' : 'ltr'
}

function chosenLanguage(): Language {
  const asked = new URLSearchParams(location.search).get(KEY)
  if (isLanguage(asked)) remember(asked)
  const wanted = [asked, remembered(), ...navigator.languages.map((tag) => tag.split('-')[0] ?? '')]
  return wanted.find(isLanguage) ?? 'en'
}

function isLanguage(text: string | null | undefined): text is Language {
  return text != null && Object.hasOwn(LANGUAGES, text)
}

/** A browser may keep nothing for this page. */
function remember(language: Language): void {
  try {
    localStorage.setItem(KEY, language)
  } catch {}
}

function remembered(): string | null {
  try {
    return localStorage.getItem(KEY)
  } catch {
    return null
  }
}
