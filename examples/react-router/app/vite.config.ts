// The React Router app, as its own documentation has it.
import { reactRouter } from '@react-router/dev/vite'
import { defineConfig, type UserConfig } from 'vite'

const config: UserConfig = defineConfig({ plugins: [reactRouter()] })

export default config
