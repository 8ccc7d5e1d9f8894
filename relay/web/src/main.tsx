// Starts the relay's pages in the document.

import { App } from './app.tsx'
import { resume, sweepLater } from './landing/actions.ts'
import { render } from './preact.ts'

render(<App />, document.body)
resume()
sweepLater()
