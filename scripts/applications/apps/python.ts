// Flask, and the rule of Home Assistant for proxies in aiohttp.
import type { Application } from '../application.ts'
import { pip, pythonOf, write } from '../installers.ts'

const FLASK = `
import sys
from flask import Flask, redirect, request, session, url_for
app = Flask(__name__)
app.secret_key = 'secret'
@app.get('/')
def index():
    session['seen'] = session.get('seen', 0) + 1
    return f"seen {session['seen']}"
@app.post('/form')
def form(): return redirect(url_for('index', _external=True))
@app.get('/docs/')
def docs(): return 'docs'
app.run('127.0.0.1', int(sys.argv[1]))
`

const STRICT = `
import sys
from ipaddress import ip_address
from aiohttp import web
@web.middleware
async def forwarded(request, handler):
    for line in request.headers.getall('X-Forwarded-For', []):
        try: [ip_address(one.strip()) for one in line.split(',')]
        except ValueError: raise web.HTTPBadRequest
    return await handler(request)
app = web.Application(middlewares=[forwarded])
app.router.add_get('/', lambda request: web.Response(text='from ' + request.headers.get('X-Forwarded-For', 'nobody')))
web.run_app(app, host='127.0.0.1', port=int(sys.argv[1]))
`

export const PYTHON: readonly Application[] = [
  {
    name: 'Flask',
    checks: 'page, session cookie, absolute redirect of a form, redirect of a folder',
    install(folder) {
      write(folder, { 'app.py': FLASK })
      return pip(folder, ['flask==3.1.3'])
    },
    start: (folder, port) => [pythonOf(folder), 'app.py', String(port)],
    async check(visitor) {
      await visitor.page('/', 'seen 1')
      await visitor.page('/', 'seen 2')
      await visitor.redirect('/form', '/', visitor.form('/form', {}))
      await visitor.redirect('/docs', '/docs/')
    },
  },
  {
    name: 'aiohttp',
    checks: 'the rule of Home Assistant: a word in `X-Forwarded-For` that is no address is 400',
    install(folder) {
      write(folder, { 'app.py': STRICT })
      return pip(folder, ['aiohttp==3.14.5'])
    },
    start: (folder, port) => [pythonOf(folder), 'app.py', String(port)],
    check: async (visitor) => void (await visitor.page('/', 'from ')),
  },
]
