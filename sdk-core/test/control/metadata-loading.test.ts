// The relay's refusal of metadata is the error where the code that leaves some of it out cannot be loaded.

import { METADATA_THUMBNAIL_MAX_CHARS } from '@svc/protocol'
import { expect, test, vi } from 'vitest'
import { withAcceptedMetadata } from '../../src/control/metadata.ts'
import { SvcError } from '../../src/errors.ts'

vi.mock('../../src/control/lazy.ts', () => {
  throw new TypeError('import() is not allowed here')
})

test('a relay that refuses is asked once', async () => {
  const refusal = new SvcError('invalid_request', 'too much')
  const attempt = vi.fn(() => Promise.reject(refusal))
  await expect(withAcceptedMetadata({ description: 'a demo' }, attempt)).rejects.toBe(refusal)
  expect(attempt).toHaveBeenCalledOnce()
})

test('a picture that is too large is not sent', async () => {
  const attempt = vi.fn()
  const thumbnail = 'a'.repeat(METADATA_THUMBNAIL_MAX_CHARS + 1)
  await expect(withAcceptedMetadata({ thumbnail }, attempt)).rejects.toThrow()
  expect(attempt).not.toHaveBeenCalled()
})
