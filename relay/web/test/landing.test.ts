// The form of the landing page: what its choices about who may come in make of the option `access`, and which field an error is about.
import { describe, expect, test } from 'vitest'
import { accessOf, endOf, faultOf, NO_CHOICES } from '../src/landing/choices.ts'

describe('the choices', () => {
  test('let everybody in unless the user chooses something', () => {
    expect(accessOf(NO_CHOICES, endOf(NO_CHOICES, 0))).toBeUndefined()
  })

  test('are a password, an end, and the owner’s answer', () => {
    const choices = { ...NO_CHOICES, isListed: true, isAsking: true, password: ' open sesame ', hours: 8 }
    const end = endOf(choices, 1_000)
    expect(end).toBe(28_801_000)
    expect(accessOf(choices, end)).toEqual({
      password: ' open sesame ',
      knock: true,
      expires: new Date(28_801_000),
    })
    expect(accessOf({ ...NO_CHOICES, hours: 1 }, 5)).toEqual({ expires: new Date(5) })
  })
})

test.each([
  ['invitation_required', 'this relay lets nobody in', 'invitation'],
  ['invitation_rejected', 'the invitation is used up', 'invitation'],
  ['invalid_option', 'access.password is a hash', 'password'],
  ['hostname_conflict', 'another identity has it', 'name'],
  ['name_in_other_tab', '', 'name'],
  ['files_gone', '', 'files'],
  ['invalid_option', 'http2 must be true or false', undefined],
  ['relay_full', 'access.password', undefined],
])('an error %s with the message "%s" is about the field %s', (code, message, field) => {
  expect(faultOf(code, message)).toBe(field)
})
