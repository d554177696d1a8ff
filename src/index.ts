export { type EmbedOptions, embed } from './embed/embed.ts'
