// The relay's executable loads zod without its translations, and its messages stay as they are.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const urlOf = (file: string): string =>
  JSON.stringify(new URL(`../../src/core/config/${file}`, import.meta.url).href)

test('no translation but that of the default language is loaded', async () => {
  const script = `
    import { registerHooks } from 'node:module'
    import { skipTranslations } from ${urlOf('skip-translations.ts')}
    const languages = []
    registerHooks({
      load: (url, context, next) => {
        const [, name] = /zod\\/v4\\/locales\\/(.+)\\.js$/.exec(url) ?? []
        if (name !== undefined) languages.push(name)
        return next(url, context)
      },
    })
    skipTranslations()
    const { z } = await import(${urlOf('schema.ts')})
    console.log(JSON.stringify({ languages, message: z.string().safeParse(1).error.issues[0].message }))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  expect(JSON.parse(stdout)).toEqual({
    languages: ['en'],
    message: 'Invalid input: expected string, received number',
  })
})
