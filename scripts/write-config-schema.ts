/** Writes docs/reeve.schema.json, with which editors check reeve.json. A test compares it with the settings. */
import { writeFileSync } from 'node:fs'
import { configurationJsonSchema } from '../src/daemon/settings.ts'

writeFileSync('docs/reeve.schema.json', `${JSON.stringify(configurationJsonSchema(), null, 2)}\n`)
