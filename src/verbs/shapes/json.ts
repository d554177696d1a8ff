import * as z from 'zod'
import type { Json, JsonObject } from '../../core/json/json.ts'

/** Any JSON. The store checks it once, so the schema accepts everything. */
export const json: z.ZodType<Json, Json> = z.any()
export const jsonObject: z.ZodType<JsonObject, JsonObject> = z.record(z.string(), z.any())
