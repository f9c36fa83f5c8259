/** Measurements inside a page, as source text that runs in the browser. */

/**
 * Every visible text whose contrast with its background is below 4.5:1 (WCAG 2.2, 1.4.3), as `ratio text (color on
 * color)`. Disabled controls are exempt there and here.
 */
export const LOW_CONTRAST_TEXTS = `(() => {
  const MINIMUM = 4.5;
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((byte) => {
      const part = byte / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const over = (top, bottom) => {
    const alpha = top[3] / 255;
    return [0, 1, 2].map((at) => top[at] * alpha + bottom[at] * (1 - alpha)).concat(255);
  };
  const behind = (element) => {
    const layers = [];
    for (let node = element; node; node = node.parentElement) {
      const layer = rgba(getComputedStyle(node).backgroundColor);
      if (layer[3] > 0) layers.push(layer);
      if (layer[3] === 255) break;
    }
    return layers.reduceRight((below, layer) => over(layer, below), [255, 255, 255, 255]);
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    if (text === '' || element.closest('script, noscript, :disabled, [disabled]')) continue;
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const style = getComputedStyle(element);
    const ground = behind(element);
    const paint = element.namespaceURI.endsWith('svg') ? style.fill : style.color;
    const ink = over(rgba(paint), ground);
    const [light, dark] = [luminance(ink), luminance(ground)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio >= MINIMUM) continue;
    const colors = [ink, ground].map((color) => color.map(Math.round)).join(' on ');
    found.push(ratio.toFixed(2) + ' ' + text.slice(0, 40) + ' (' + colors + ')');
  }
  return [...new Set(found)];
})()`;

/** How much wider the document is than the window, in CSS pixels, with the elements that stick out. */
export const SIDEWAYS_OVERFLOW = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth <= clientWidth) return [];
  return [...document.querySelectorAll('body *')]
    .filter((element) => element.getBoundingClientRect().right > clientWidth + 1)
    .map((element) => element.tagName + '.' + element.className)
    .slice(0, 5);
})()`;
