// Parses what APIs answer by schemas. The only importer of zod here.

export { z } from 'zod'
