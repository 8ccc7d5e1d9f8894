// What a page's events do to its site, on a scope that has them and on one that has not.

import { afterEach, describe, expect, it, vi } from 'vitest'
import { followPage } from '../src/page-lifecycle.ts'

const site = { wake: vi.fn(), suspend: vi.fn(), resume: vi.fn() }
afterEach(() => {
  vi.unstubAllGlobals()
  vi.clearAllMocks()
})

/** Node has no events on its global scope; a page has. */
function page(): { scope: EventTarget; signal: AbortSignal; close: () => void } {
  const scope = new EventTarget()
  vi.stubGlobal('addEventListener', scope.addEventListener.bind(scope))
  const controller = new AbortController()
  followPage(site, controller.signal)
  return { scope, signal: controller.signal, close: () => controller.abort() }
}

const pageShow = (persisted: boolean): Event => Object.assign(new Event('pageshow'), { persisted })

describe('followPage', () => {
  it.each(['online', 'visibilitychange', 'resume'])('wakes the site on %s', (type) => {
    const { scope } = page()
    scope.dispatchEvent(new Event(type))
    expect(site.wake).toHaveBeenCalledOnce()
  })

  it('suspends it on pagehide, and resumes it on pageshow from the back/forward cache only', () => {
    const { scope } = page()
    scope.dispatchEvent(new Event('pagehide'))
    expect(site.suspend).toHaveBeenCalledOnce()
    scope.dispatchEvent(pageShow(false))
    expect(site.resume).not.toHaveBeenCalled()
    scope.dispatchEvent(pageShow(true))
    expect(site.resume).toHaveBeenCalledOnce()
  })

  it('stops with the site', () => {
    const { scope, close } = page()
    close()
    scope.dispatchEvent(new Event('pagehide'))
    expect(site.suspend).not.toHaveBeenCalled()
  })

  it('does nothing where there are no such events', () => {
    vi.stubGlobal('addEventListener', undefined)
    expect(() => followPage(site, new AbortController().signal)).not.toThrow()
  })
})
