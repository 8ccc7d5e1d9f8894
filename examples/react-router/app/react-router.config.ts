// The app's build ends with a module for a page.
import type { Config } from '@react-router/dev/config'
import svc from '@svc/sdk-browser/react-router'

const config: Config = { appDirectory: 'src', presets: [svc()] }

export default config
