import * as z from 'zod'
import type { Json, JsonObject } from '../../core/json/json.ts'

/** JSON is checked where it is stored, once, so here its shape alone is named. */
export const json: z.ZodType<Json, Json> = z.any()
export const jsonObject: z.ZodType<JsonObject, JsonObject> = z.record(z.string(), z.any())
