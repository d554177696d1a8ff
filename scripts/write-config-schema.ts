/** Writes the schemas with which editors check reeve.json, .reeve/policy.json and images. Tests compare them with the code. */
import { writeFileSync } from 'node:fs'
import { configurationJsonSchema } from '../src/daemon/settings.ts'
import { imageJsonSchema } from '../src/verbs/image-file-schema.ts'
import { policyJsonSchema } from '../src/verbs/policy-file-schema.ts'

for (const [file, schema] of [
  ['docs/reeve.schema.json', configurationJsonSchema()],
  ['docs/policy.schema.json', policyJsonSchema()],
  ['docs/image.schema.json', imageJsonSchema()],
] as const)
  writeFileSync(file, `${JSON.stringify(schema, null, 2)}\n`)
