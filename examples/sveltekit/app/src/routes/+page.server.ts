// Logs visitors in and out: form actions that set a cookie and lead back to the page.
import { type Actions, type Cookies, fail, redirect } from '@sveltejs/kit'
import { COOKIE, COOKIE_OPTIONS, Sessions } from '../../../../shared/sessions.ts'

const sessions = new Sessions()

export const load = ({ cookies }: { cookies: Cookies }): { name: string | undefined } => ({
  name: sessions.nameOf(cookies.get(COOKIE)),
})

export const actions: Actions = {
  login: async ({ cookies, request }) => {
    const form = await request.formData()
    const secret = sessions.begin(form.get('name'))
    if (!secret) return fail(400, { message: 'Write a name of at most 40 characters.' })
    cookies.set(COOKIE, secret, COOKIE_OPTIONS)
    redirect(303, '/')
  },
  logout: async ({ cookies }) => {
    sessions.end(cookies.get(COOKIE))
    cookies.delete(COOKIE, COOKIE_OPTIONS)
    redirect(303, '/')
  },
}
