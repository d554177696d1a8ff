/** How people read of a rewind. Programs that load no schemas use it, too. */
export { putBackLines, rewoundText, WHY_LEFT } from '../core/agent/rewound-text.ts'
