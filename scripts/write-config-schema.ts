/** Writes the schemas with which editors check reeve.json and .reeve/policy.json. Tests compare them with the code. */
import { writeFileSync } from 'node:fs'
import { configurationJsonSchema } from '../src/daemon/settings.ts'
import { policyJsonSchema } from '../src/verbs/policy-file-schema.ts'

for (const [file, schema] of [
  ['docs/reeve.schema.json', configurationJsonSchema()],
  ['docs/policy.schema.json', policyJsonSchema()],
] as const)
  writeFileSync(file, `${JSON.stringify(schema, null, 2)}\n`)
