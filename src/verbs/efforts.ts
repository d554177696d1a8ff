/** How much a model may be asked to think; a surface that loads no schema lists them. */
export { EFFORTS } from '../core/model/prompt.ts'
