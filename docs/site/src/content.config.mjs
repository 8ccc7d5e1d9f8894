// The pages, from where they are in the repository.

import { defineCollection } from 'astro:content'
import { docsSchema } from '@astrojs/starlight/schema'
import { pagesLoader } from './pages-loader.ts'

export const collections = { docs: defineCollection({ loader: pagesLoader(), schema: docsSchema() }) }
