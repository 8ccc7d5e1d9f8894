// What a page's events do to its site, on a scope that has them and on one that has not.

import { afterEach, describe, expect, it, vi } from 'vitest'
import { followPage } from '../src/page-lifecycle.ts'

const site = { wake: vi.fn(), suspend: vi.fn(), resume: vi.fn() }
afterEach(() => {
  vi.unstubAllGlobals()
  vi.clearAllMocks()
})

/** Node has no events on its global scope; a page has. What a script dispatches is not trusted. */
function page(): { happens: (type: string, more?: object) => void; scope: EventTarget; close: () => void } {
  const scope = new EventTarget()
  const listeners = new Map<string, (event: Event) => void>()
  const controller = new AbortController()
  vi.stubGlobal('addEventListener', (type: string, listener: (event: Event) => void, options: object) => {
    listeners.set(type, listener)
    scope.addEventListener(type, listener, options)
  })
  followPage(site, controller.signal)
  const happens = (type: string, more = {}): void => {
    if (!controller.signal.aborted) listeners.get(type)?.({ isTrusted: true, type, ...more } as Event)
  }
  return { happens, scope, close: () => controller.abort() }
}

describe('followPage', () => {
  it.each(['online', 'visibilitychange', 'resume'])('wakes the site on %s', (type) => {
    page().happens(type)
    expect(site.wake).toHaveBeenCalledOnce()
  })

  it('suspends it on pagehide, and resumes it on pageshow from the back/forward cache only', () => {
    const { happens } = page()
    happens('pagehide')
    expect(site.suspend).toHaveBeenCalledOnce()
    happens('pageshow', { persisted: false })
    expect(site.resume).not.toHaveBeenCalled()
    happens('pageshow', { persisted: true })
    expect(site.resume).toHaveBeenCalledOnce()
  })

  it('ignores what a script dispatches', () => {
    const { scope } = page()
    for (const type of ['pagehide', 'online', 'pageshow'])
      scope.dispatchEvent(Object.assign(new Event(type), { persisted: true }))
    for (const act of Object.values(site)) expect(act).not.toHaveBeenCalled()
  })

  it('stops with the site', () => {
    const { happens, close } = page()
    close()
    happens('pagehide')
    expect(site.suspend).not.toHaveBeenCalled()
  })

  it('does nothing where there are no such events', () => {
    vi.stubGlobal('addEventListener', undefined)
    expect(() => followPage(site, new AbortController().signal)).not.toThrow()
  })
})
