/** Writes docs/reeve.schema.json, by which editors know what reeve.json may hold. A test compares it with the settings. */
import { writeFileSync } from 'node:fs'
import { configurationJsonSchema } from '../src/daemon/settings.ts'

writeFileSync('docs/reeve.schema.json', `${JSON.stringify(configurationJsonSchema(), null, 2)}\n`)
