/** Copying text to the clipboard. */
import { announce, button } from './dom.ts';

const CONFIRMATION_MS = 2000;

/** A button that copies the text of `source`, or the text that `read` derives from it. */
export function copyButton(
  label: string,
  source: HTMLElement,
  read: () => string = () => source.textContent ?? '',
): HTMLButtonElement {
  const node = button(label, () => void copy(), { class: 'quiet' });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const copy = async (): Promise<void> => {
    const copied = await writeClipboard(read());
    if (!copied) selectText(source);
    node.textContent = copied ? 'Copied' : 'Selected: press Ctrl+C';
    announce(copied ? 'Copied' : 'The text is selected; copy it with the keyboard.');
    clearTimeout(timer);
    timer = setTimeout(() => {
      node.textContent = label;
    }, CONFIRMATION_MS);
  };
  return node;
}

/** False where browsers deny the clipboard: pages that are neither HTTPS nor on this machine. */
async function writeClipboard(text: string): Promise<boolean> {
  if (!window.isSecureContext) return false;
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch (error) {
    if (error instanceof DOMException) return false;
    throw error;
  }
}

function selectText(node: HTMLElement): void {
  const range = document.createRange();
  range.selectNodeContents(node);
  getSelection()?.removeAllRanges();
  getSelection()?.addRange(range);
}
