// Which browser reads the page, and on which system: it gets the steps for these first.
import type { System } from '../texts/authority.ts'

type Browser = 'chrome' | 'firefox' | 'safari'

export interface ThisBrowser {
  browser: Browser
  /** Whose steps make this browser trust a CA. */
  steps: System
}

/** @param touchPoints of `navigator`: an iPad calls itself a Mac, which has none */
export function thisBrowser(
  userAgent: string = navigator.userAgent,
  touchPoints: number = navigator.maxTouchPoints,
): ThisBrowser {
  const system = systemOf(userAgent, touchPoints)
  const browser = browserOf(userAgent)
  // On phones it takes the system's list.
  const hasOwnList = browser === 'firefox' && system !== 'android' && system !== 'ios'
  return { browser, steps: hasOwnList ? 'firefox' : system }
}

function browserOf(userAgent: string): Browser {
  if (/Firefox|FxiOS/.test(userAgent)) return 'firefox'
  return /Chrome|Chromium|CriOS|EdgiOS/.test(userAgent) ? 'chrome' : 'safari'
}

function systemOf(userAgent: string, touchPoints: number): System {
  if (/Android/.test(userAgent)) return 'android'
  if (/iPhone|iPad|iPod/.test(userAgent)) return 'ios'
  if (/Macintosh/.test(userAgent)) return touchPoints > 1 ? 'ios' : 'macos'
  return /Windows/.test(userAgent) ? 'windows' : 'linux'
}
