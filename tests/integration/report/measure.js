// Copyright: (c) 2026, the kyma.lifecycle authors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later
// Measures a report that a browser has drawn.
() => {
  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = (color) => {
    const [r, g, b] = channels(color).slice(0, 3).map((value) => {
      const share = value / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const background = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const color = getComputedStyle(one).backgroundColor;
      if ((channels(color)[3] ?? 1) === 1) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };

  // Every text, with the boxes of its lines.
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, element = node.parentElement;
    if (!node.data.trim() || element.closest("title, .unseen")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const boxes = [...range.getClientRects()].filter((box) => box.width > 0 && box.height > 0);
    if (boxes.length) texts.push({ text: node.data.trim(), element, boxes });
  }

  const overlapping = [];
  const boxes = texts.flatMap(({ text, boxes }, owner) => boxes.map((box) => ({ text, owner, box })));
  boxes.sort((a, b) => a.box.top - b.box.top);
  boxes.forEach((one, number) => {
    for (const other of boxes.slice(number + 1)) {
      if (other.box.top >= one.box.bottom) break;
      const height = Math.min(one.box.bottom, other.box.bottom) - other.box.top;
      const width = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
      // Boxes of lines are higher than their letters, so those of two lines may touch.
      if (one.owner !== other.owner && width > 1 && height > 0.4 * Math.min(one.box.height, other.box.height)) {
        overlapping.push(`${one.text.slice(0, 60)} | ${other.text.slice(0, 60)}`);
      }
    }
  });

  const overflowing = texts
    .filter(({ element, boxes }) => {
      const frame = element.closest("li, td, th, p, h1, h2, h3, .head, summary, footer").getBoundingClientRect();
      return boxes.some((box) => box.left < frame.left - 1 || box.right > frame.right + 1
        || box.left < -0.5 || box.right > innerWidth + 0.5);
    })
    .map(({ text }) => text);

  const contrasts = new Map();
  for (const { text, element } of texts) {
    const style = getComputedStyle(element);
    const color = element instanceof SVGElement ? style.fill : style.color;
    const behind = background(element);
    contrasts.set(`${color} ${behind}`, { text: text.slice(0, 60), color, behind, contrast: contrast(color, behind) });
  }

  const bars = [...document.querySelectorAll("rect.bar")].map((rect) => {
    const axis = rect.closest("svg").getBoundingClientRect(), box = rect.getBoundingClientRect();
    return {
      title: rect.querySelector("title").textContent,
      left: box.left - axis.left,
      width: box.width,
      axis: axis.width,
      isPart: [...rect.classList].some((name) => name.startsWith("part-")),
      isMarked: rect.nextElementSibling?.classList.contains("mark") ?? false,
    };
  });

  return {
    pageWidth: document.documentElement.scrollWidth,
    texts: texts.length,
    overlapping,
    overflowing,
    contrasts: [...contrasts.values()],
    bars,
    visible: document.body.innerText,
  };
}
