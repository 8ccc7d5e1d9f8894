// Logs visitors in and out: an action that sets a cookie and leads back, a loader that knows them again.
import { type ReactNode, useState } from 'react'
import {
  type ActionFunctionArgs,
  createCookie,
  data,
  Form,
  type LoaderFunctionArgs,
  redirect,
  useActionData,
  useLoaderData,
} from 'react-router'
import { COOKIE, COOKIE_OPTIONS, Sessions } from '../../../shared/sessions.ts'

const sessions = new Sessions()
const cookie = createCookie(COOKIE, COOKIE_OPTIONS)

interface Visitor {
  name: string | undefined
}

async function secretOf(request: Request): Promise<string | undefined> {
  return (await cookie.parse(request.headers.get('Cookie'))) ?? undefined
}

export async function loader({ request }: LoaderFunctionArgs): Promise<Visitor> {
  return { name: sessions.nameOf(await secretOf(request)) }
}

export async function action({ request }: ActionFunctionArgs): Promise<unknown> {
  const form = await request.formData()
  if (form.get('intent') === 'logout') {
    sessions.end(await secretOf(request))
    return redirect('/', { headers: { 'Set-Cookie': await cookie.serialize('', { maxAge: 0 }) } })
  }
  const secret = sessions.begin(form.get('name'))
  if (!secret) return data({ message: 'Write a name of at most 40 characters.' }, { status: 400 })
  return redirect('/', { headers: { 'Set-Cookie': await cookie.serialize(secret) } })
}

export function meta(): { title: string }[] {
  return [{ title: 'React Router in a tab' }]
}

export default function Login(): ReactNode {
  const { name } = useLoaderData<Visitor>()
  return <main>{name === undefined ? <LoginForm /> : <Greeting name={name} />}</main>
}

function Greeting({ name }: { name: string }): ReactNode {
  const [clicks, setClicks] = useState(0)
  return (
    <>
      <h1>{`Hello, ${name}`}</h1>
      <p>
        <button type="button" className="plain" onClick={() => setClicks(clicks + 1)}>
          {`Clicked ${clicks}×`}
        </button>
      </p>
      <Form method="post">
        <button type="submit" name="intent" value="logout">
          Log out
        </button>
      </Form>
    </>
  )
}

function LoginForm(): ReactNode {
  const answer = useActionData<{ message: string }>()
  return (
    <>
      <h1>Who are you?</h1>
      <Form method="post" className="stack">
        <label htmlFor="name">Your name</label>
        <input id="name" name="name" required maxLength={40} autoComplete="off" />
        <button type="submit" name="intent" value="login">
          Log in
        </button>
        {answer && <p className="error">{answer.message}</p>}
      </Form>
    </>
  )
}
