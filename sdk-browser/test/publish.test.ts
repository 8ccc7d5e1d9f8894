// `publish` of a page, as far as it comes without one.

import { expect, test } from 'vitest'
import { publish } from '../src/publish.ts'

test.each([undefined, null, {}, { globals: 1 }, { relay: Symbol('relay') }])(
  'wrong options reject, and throw nothing: %o',
  async (options) => {
    let rejected: unknown
    expect(() => {
      rejected = publish(options as never).catch((error) => error)
    }).not.toThrow()
    expect(await rejected).toMatchObject({ code: 'invalid_option' })
  },
)
