// Starts the relay's face in its document.
import { render } from './preact.ts'
import { App } from './shell/app.tsx'

render(<App />, document.body)
