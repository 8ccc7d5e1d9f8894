// Starts the page of the agent in the document.

import { render } from '@svc/relay-web/preact.ts'
import { App } from './app.tsx'
import { resume } from './session/session.ts'

render(<App />, document.body)
void resume()
